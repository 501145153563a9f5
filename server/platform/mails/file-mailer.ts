import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mailer } from '../context/mail.ts'
import { toMailOptions } from './compose-mail.ts'

/** Without an SMTP server mails become files in the data directory's `outbox/`, named in the log. */
export function fileMailer(
  dataDir: string,
  from: string,
  now: () => Date,
  log: (file: string, subject: string) => void,
): Mailer {
  const folder = join(dataDir, 'outbox')
  return {
    async send(mail, signal) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const date = now()
      const name = `${date.toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`
      const { createTransport } = await import('nodemailer')
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
      const { message } = await composer.sendMail(toMailOptions(mail, from, date))
      const draft = join(folder, `.${name}`)
      try {
        await writeFile(draft, message, { mode: 0o600, signal })
        await rename(draft, join(folder, name))
      } catch (error) {
        // Incomplete files must not stay on a full disk.
        await rm(draft, { force: true })
        throw error
      }
      log(join(folder, name), mail.subject)
    },
  }
}
