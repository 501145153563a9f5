import { hash, hashRaw, parseOptions, verify } from '@node-rs/argon2'
import type { PasswordHasher } from '../../platform/context/passwords.ts'
import { rateLimited } from '../../platform/kernel/errors.ts'

type PasswordCost = { readonly memoryKib: number; readonly passes: number }

/** Above the OWASP minimum of 19 MiB and two passes; 36 ms on the reference machine. */
export const PASSWORD_COST: PasswordCost = { memoryKib: 65_536, passes: 3 }

/** The OWASP minimum, for random codes of 50 bits. It never changes: stored hashes do not name it. 5 ms. */
const CODE_COST: PasswordCost = { memoryKib: 19_456, passes: 2 }

/** Each hash takes the whole memory cost: four take 256 MiB. */
const MAX_RUNNING = 4
const MAX_WAITING = 64

/** `Algorithm.Argon2id`; the enum of the package is a const enum, which isolated modules cannot read. */
const ARGON2ID = 2
const SALT_BYTES = 16
const OUTPUT_BYTES = 32

/**
 * argon2id with one lane. Hashes with other parameters still verify.
 * @param codeCost of {@link PasswordHasher.hashCode}; another one does not find stored codes
 */
export function createPasswordHasher(cost: PasswordCost, codeCost: PasswordCost = CODE_COST): PasswordHasher {
  const dummy = dummyHash(cost)
  const queue = limitConcurrency(MAX_RUNNING, MAX_WAITING)
  let computed = 0
  const limited = <T>(work: () => Promise<T>): Promise<T> =>
    queue(() => {
      computed++
      return work()
    })
  return {
    hash: (password) =>
      limited(() =>
        hash(password, {
          algorithm: ARGON2ID,
          memoryCost: cost.memoryKib,
          timeCost: cost.passes,
          parallelism: 1,
          outputLen: OUTPUT_BYTES,
        }),
      ),
    verify: async (stored, password) => {
      const matches = await limited(() => verify(stored ?? dummy, password))
      return matches && stored !== null
    },
    hashCode: (code, salt) =>
      limited(() =>
        hashRaw(code, {
          algorithm: ARGON2ID,
          memoryCost: codeCost.memoryKib,
          timeCost: codeCost.passes,
          parallelism: 1,
          outputLen: OUTPUT_BYTES,
          salt,
        }),
      ),
    computed: () => computed,
    isOutdated: (stored) => {
      const made = parseOptions(stored)
      return made.memoryCost < cost.memoryKib || made.timeCost < cost.passes || made.algorithm !== ARGON2ID
    },
  }
}

/** The hash of an unknown password. It is verified where there is no account, so that the response takes as long. */
function dummyHash(cost: PasswordCost): string {
  const zeros = (bytes: number) => Buffer.alloc(bytes).toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${cost.memoryKib},t=${cost.passes},p=1$${zeros(SALT_BYTES)}$${zeros(OUTPUT_BYTES)}`
}

function limitConcurrency(maxRunning: number, maxWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < maxRunning) {
      running++
    } else {
      if (waiting.length >= maxWaiting) throw rateLimited('Too many log-ins at the same time. Try again in 2 s.', 2)
      // A hash that ends passes its place on, so `running` does not change.
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
