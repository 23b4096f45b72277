"""A package, so that its browser (a fixture of the scope "package") is closed before the tests of the next folder."""
