"""What a label is: candidate sets, their one validation gate, and confidences."""
