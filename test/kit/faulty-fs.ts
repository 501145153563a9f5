import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

export type FsFault = 'ENOSPC' | 'EIO' | 'EMFILE' | 'short'

/** Operations that write or open; reading never fails here. */
const SYNC = ['writeFileSync', 'writeSync', 'openSync', 'mkdirSync', 'renameSync', 'linkSync', 'fsyncSync'] as const
const ASYNC = ['writeFile', 'open', 'mkdir', 'rename'] as const

/**
 * Runs work while the n-th file operation of this process fails, like a full or broken disk: with an error, or
 * (`short`) after half of the bytes were written.
 * @returns whether that operation was reached, and the error that the work threw
 */
export async function withFaultyFs(
  n: number,
  fault: FsFault,
  work: () => unknown,
): Promise<{ reached: boolean; error: unknown }> {
  let left = n
  const failure = (name: string): NodeJS.ErrnoException =>
    Object.assign(new Error(`${fault}: made to fail, ${name}`), {
      code: fault === 'short' ? 'ENOSPC' : fault,
      syscall: name,
    })
  const half = (data: unknown): string | Buffer =>
    typeof data === 'string'
      ? data.slice(0, data.length >> 1)
      : Buffer.isBuffer(data)
        ? data.subarray(0, data.length >> 1)
        : ''
  const undo: (() => void)[] = []
  const patch = <T extends object>(target: T, name: keyof T & string, isAsync: boolean): void => {
    const real: unknown = target[name]
    if (typeof real !== 'function') throw new Error(`fs has no ${name}`)
    const faulty = (...given: unknown[]): unknown => {
      if (--left !== 0) return Reflect.apply(real, target, given)
      if (fault === 'short' && name.startsWith('writeFile')) {
        const [path, data, ...further] = given
        const written: unknown = Reflect.apply(real, target, [path, half(data), ...further])
        if (written instanceof Promise) {
          return written.then(() => {
            throw failure(name)
          })
        }
        throw failure(name)
      }
      if (isAsync) return Promise.reject(failure(name))
      throw failure(name)
    }
    Object.assign(target, { [name]: faulty })
    undo.push(() => void Object.assign(target, { [name]: real }))
  }
  for (const name of SYNC) patch(fs, name, false)
  for (const name of ASYNC) patch(fs.promises, name, true)
  syncBuiltinESMExports()
  let error: unknown = null
  try {
    await work()
  } catch (failed) {
    error = failed
  } finally {
    for (const one of undo) one()
    syncBuiltinESMExports()
  }
  return { reached: left <= 0, error }
}
