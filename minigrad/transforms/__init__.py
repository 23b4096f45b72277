"""Functions of functions: what differentiates a function, forwards or backwards, and derivatives of one's own."""
