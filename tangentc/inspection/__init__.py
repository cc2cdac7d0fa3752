"""What people look at: the stages of the compiler, and checks of what it gives."""
