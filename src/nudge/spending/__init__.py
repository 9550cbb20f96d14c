"""Can it afford this? Money, prices, holds, the ledger, the daily allowance, sleep and wake."""
