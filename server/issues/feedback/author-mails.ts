import type { MailContent } from '../../platform/mails/mail-content.ts'

/** The texts of mails to authors of messages (pure). Nothing in them is loaded, and no text of theirs becomes markup. */

type Author = { readonly name: string | null; readonly message: string; readonly received_at: Date }

const MAX_NAME = 60
const MAX_QUOTED = 300
const MAX_SUBJECT_NAME = 80

/** A text cut at a length, with a sign that it continues. */
const cutAt = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

const reasonOf = (project: string): string =>
  `You receive this mail because you left your address with a message about ${project}. Answers to it are not read.`

/** The answer of a member; its lines are paragraphs. */
export function replyMail({
  body,
  by,
  to,
  project,
}: {
  readonly body: string
  readonly by: string
  readonly to: Author
  readonly project: string
}): MailContent {
  return {
    subject: `Your message about ${cutAt(project, MAX_SUBJECT_NAME)}`,
    name: to.name === null ? null : cutAt(to.name, MAX_NAME),
    paragraphs: body.split(/\r?\n/).filter((line) => line.trim() !== ''),
    closing: [`${by}, ${project}`],
    details: [[`You wrote on ${dayOf(to.received_at)}`, cutAt(to.message, MAX_QUOTED)]],
    reason: reasonOf(project),
  }
}

/** That the problem is solved. It quotes nothing: no member looks at it before it is sent. */
export function resolvedMail({
  to,
  project,
}: {
  readonly to: Omit<Author, 'message'>
  readonly project: string
}): MailContent {
  return {
    subject: `What you notified us about ${cutAt(project, MAX_SUBJECT_NAME)} is resolved`,
    name: to.name === null ? null : cutAt(to.name, MAX_NAME),
    paragraphs: [
      `On ${dayOf(to.received_at)} you notified us about a problem with ${project}. The team has marked it as resolved.`,
      'If it still happens, install the newest version. If that does not help, please write to us again in the app.',
    ],
    closing: ['Thank you for your help.'],
    reason: reasonOf(project),
  }
}
