"""What is asked in each lesson: a generator of cases for each task, with expected values from minigrad or a closed form."""
