"""The command line. A file a command; torch is imported only by what needs it."""
