"""Interactive pages, one file each: the stepper, a drawing with clickable nodes, attention maps. assets/ has the scripts."""
