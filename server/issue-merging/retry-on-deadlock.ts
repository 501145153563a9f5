const MAX_ATTEMPTS = 5

/**
 * Runs a transaction again when PostgreSQL ended it to let another one go on. Merging takes its locks in the order of
 * ids, as digestion does; a batch that asked for an issue just before it was hidden then asks for the one it leads to,
 * out of that order.
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
