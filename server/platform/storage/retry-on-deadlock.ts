const MAX_ATTEMPTS = 5

/**
 * Runs a transaction again after PostgreSQL reported a deadlock, where not everything can be locked in one order: merging
 * locks search documents in another order than the job that adds terms to them.
 * @throws the last error after five attempts
 */
export async function retryOnDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(error instanceof Error && 'code' in error && error.code === '40P01'))
        throw error
    }
  }
}
