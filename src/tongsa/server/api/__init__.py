"""The HTTP interfaces, one file each. Imports `http` and `work`; nothing of `app`."""
