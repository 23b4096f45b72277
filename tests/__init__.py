"""The tests. A package, so that helpers are imported as `tests.fake_device` whatever else is installed."""
