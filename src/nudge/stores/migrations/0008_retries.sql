-- After the clock went back, what is being retried must not wait until the time is as late again: these are found at once.
CREATE INDEX timers_retried ON timers (due_at) WHERE attempts > 0;
