/** A mail as it is sent. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** A POST to it, without a session, ends these mails (RFC 8058). */
  readonly unsubscribeUrl?: string
}

/** Sends mail, or keeps it where the operator can find it. */
export type Mailer = {
  /**
   * @param signal ends the sending early
   * @throws Error with `responseCode` when the server refused it
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>
}
