"""Writes pages, one file each: the stepper, drawings, gradients in training, attention maps. assets/ has their scripts."""
