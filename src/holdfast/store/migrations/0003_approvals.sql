-- The arguments that a person gave instead of the model's; NULL when they were not changed.
ALTER TABLE approvals ADD COLUMN changed TEXT;
