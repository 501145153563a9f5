import { isLoopbackHost } from '../../config/config.ts'
import type { Mailer } from '../context/mail.ts'
import { NotSentError } from '../outbox/channel.ts'
import { toMailOptions } from './compose-mail.ts'

/** Mails in hand of one process; servers refuse clients with many connections. */
const MAX_CONNECTIONS = 10
const CONNECT_MS = 8_000
/** Without a byte from the server. The whole attempt has the time of its channel. */
const SILENCE_MS = 15_000

/**
 * Sends mails through an SMTP server. `smtps://` uses TLS from the first byte; `smtp://` changes to TLS where the server
 * offers it, and must when there is a password to protect. Certificates are always verified.
 * @param url `SMTP_URL`
 */
export function smtpMailer(url: string, from: string, now: () => Date): Mailer {
  const options = connectionOptions(url)
  let open = 0
  return {
    async send(mail, signal) {
      if (open >= MAX_CONNECTIONS) throw new NotSentError('all connections to the SMTP server are in use')
      open++
      try {
        const { createTransport } = await import('nodemailer')
        await createTransport(options).sendMail({ ...toMailOptions(mail, from, now()), ...(signal && { signal }) })
      } finally {
        open--
      }
    },
  }
}

/** Connects and logs in, without sending. @throws Error when the server does not answer or refuses */
export async function verifySmtp(url: string): Promise<void> {
  const { createTransport } = await import('nodemailer')
  await createTransport(connectionOptions(url)).verify()
}

function connectionOptions(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const auth = username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && auth !== undefined && !isLoopbackHost(host),
    tls: { minVersion: 'TLSv1.2' as const },
    auth,
    connectionTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  }
}
