import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type ReceivedMail = {
  readonly email: Email
  readonly from: string
  readonly to: readonly string[]
  /** Who logged in. */
  readonly user: string | null
  readonly secure: boolean
}

/** A real SMTP server on a free port, which parses the mails it receives. */
export async function startSmtpReceiver(options: SMTPServerOptions = {}) {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        void PostalMime.parse(Buffer.concat(chunks)).then((email) => {
          const { mailFrom, rcptTo } = session.envelope
          received.push({
            email,
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: typeof session.user === 'string' ? session.user : null,
            secure: session.secure,
          })
          callback()
        })
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  const port = await new Promise<number>((resolve) => {
    const listener = server.listen(0, '127.0.0.1', () => resolve((listener.address() as AddressInfo).port))
  })
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** Mails to an address, in the order of their arrival. */
    to: (address: string): readonly ReceivedMail[] => received.filter(({ to }) => to.includes(address)),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
