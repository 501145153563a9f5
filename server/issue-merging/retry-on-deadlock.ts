const MAX_ATTEMPTS = 5

/**
 * Runs a transaction again after PostgreSQL reported a deadlock. Merging locks issues in the order of their ids, as
 * digestion does. A batch whose issue is merged just before it is locked then locks the merge target out of that order.
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
