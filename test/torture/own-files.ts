import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileMailer } from '#server/platform/mails/file-mailer.ts'
import { lockDataDir } from '#server/platform/embedded-postgres/lock.ts'
import { generatedEncryptionKeys } from '#server/platform/storage/seal.ts'
import { type FsFault, withFaultyFs } from '../kit/faulty-fs.ts'

const FAULTS: readonly FsFault[] = ['ENOSPC', 'EIO', 'EMFILE', 'short']

/** A file of ours: how it is written, and what must hold after a fault, whether or not the write succeeded. */
type OwnFile = {
  readonly name: string
  write(folder: string): unknown
  /** @returns what is wrong; null when nothing is */
  check(folder: string, failed: boolean): string | null | Promise<string | null>
}

const FILES: readonly OwnFile[] = [
  {
    name: 'encryption keys',
    write: (folder) => generatedEncryptionKeys(folder),
    check(folder) {
      // Data sealed with the first key must open with the second.
      const [first, second] = [generatedEncryptionKeys(folder), generatedEncryptionKeys(folder)]
      if (first[0]?.bytes.equals(second[0]?.bytes ?? Buffer.alloc(0)) !== true) return 'keys change'
      const left = readdirSync(join(folder, 'keys'))
      return left.length === 1 ? null : `left behind: ${left.join(', ')}`
    },
  },
  {
    name: 'lock of the data directory',
    write: (folder) => lockDataDir(folder)(),
    check(folder) {
      lockDataDir(folder)()
      const left = readdirSync(folder).filter((name) => name !== 'faultline.guard')
      return left.length === 0 ? null : `left behind: ${left.join(', ')}`
    },
  },
  {
    name: 'mail',
    write: (folder) => mailer(folder).send(MAIL),
    async check(folder, failed) {
      if (failed) await mailer(folder).send(MAIL)
      const names = readdirSync(join(folder, 'outbox'))
      const whole = names.filter((name) => readFileSync(join(folder, 'outbox', name), 'utf8').endsWith('--\r\n'))
      return names.length === 1 && whole.length === 1 ? null : `in the outbox: ${names.join(', ')}`
    },
  },
]

const MAIL = { to: 'a@example.com', subject: 'Torture', text: 'short', html: `${'x'.repeat(10_000)} the end` }
const mailer = (folder: string) =>
  fileMailer(
    folder,
    'faultline@localhost',
    () => new Date(0),
    () => {},
  )

/**
 * T-04, our half: each file with the n-th operation failing in each way; afterwards it must be complete or writable.
 */
export async function tryOwnFiles(most: number): Promise<{ reached: number; wrong: readonly string[] }> {
  // Loading it would count as operations of the file.
  await import('nodemailer')
  const wrong: string[] = []
  let reached = 0
  for (const file of FILES) {
    for (const fault of FAULTS) {
      for (let n = 1; n <= most; n++) {
        const folder = mkdtempSync(join(tmpdir(), 'faultline-own-'))
        const tried = await withFaultyFs(n, fault, () => file.write(folder))
        if (tried.reached) {
          reached++
          const problem = await Promise.resolve()
            .then(() => file.check(folder, tried.error !== null))
            .catch((error: unknown) => String(error))
          if (problem !== null) wrong.push(`${file.name}, operation ${n} ${fault}: ${problem}`)
        }
        rmSync(folder, { recursive: true, force: true })
        // After its last operation there is none left to fail.
        if (!tried.reached) break
      }
    }
  }
  return { reached, wrong }
}
