"""Interactive pages of one file each: the stepper, a drawing to click in, attention maps. Their scripts are in assets/."""
