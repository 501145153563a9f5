import { AppError } from '../../platform/kernel/errors.ts'
import { DatabaseStartError } from '../../platform/storage/pool.ts'

/** Turns errors that the operator can fix into one line without a stack. */
export async function operatorError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const code = 'code' in error ? error.code : ''
    const address = 'address' in error && 'port' in error ? `${String(error.address)}:${String(error.port)}` : ''
    if (code === 'EADDRINUSE')
      throw new DatabaseStartError(
        `Another program already listens on ${address}. Stop it, or set PORT to another port.`,
        { cause: error },
      )
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
      throw new DatabaseStartError(
        `Cannot listen on ${address} (${error.message}). Set HOST and PORT to an address of this machine and a port that this user may use.`,
        { cause: error },
      )
    if (error instanceof AppError) throw new DatabaseStartError(error.message, { cause: error })
    if (error.message.startsWith('ENCRYPTION_KEYS')) throw new DatabaseStartError(error.message, { cause: error })
    throw error
  }
}
