import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

/** Sends mail, or keeps it where the operator can find it. */
export type Mailer = {
  /** @param signal ends the sending early */
  send(mail: Mail, signal?: AbortSignal): Promise<void>
}

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
      const header = [
        `From: ${from}`,
        `To: ${mail.to}`,
        `Subject: ${mail.subject}`,
        `Date: ${date.toUTCString()}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
      ]
      const text = `${header.map((line) => line.replace(/[\r\n]+/g, ' ')).join('\r\n')}\r\n\r\n${mail.text.replace(/\r?\n/g, '\r\n')}\r\n`
      const draft = join(folder, `.${name}`)
      try {
        await writeFile(draft, text, { mode: 0o600, signal })
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
