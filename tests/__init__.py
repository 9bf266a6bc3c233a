"""The tests, in the shape of src/holdfast; beside them what holds for the whole: ladder, promises, dialects, escapes."""
