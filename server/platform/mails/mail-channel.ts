import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { AttemptResult, Channel, ClaimedDelivery, SettledAttempt } from '../outbox/channel.ts'
import { openMail } from './sealed-mail.ts'
import { MINUTE_MS } from '../kernel/day.ts'
import type { Mail } from '../context/mail.ts'
import type { MailContent } from './mail-content.ts'

/** Sends mails through the SMTP server of the installation; a lane is an organisation. */
export const mailChannel: Channel = {
  name: 'mail',
  delaysMs: [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS],
  timeoutMs: 20_000,
  prepare: (app) => Promise.resolve((delivery, signal) => send(app, delivery, signal)),
  async settled(_tx, app, attempts) {
    reportLost(app, attempts)
  },
}

async function send(
  app: App,
  { messageId, orgId, body }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const startedMs = app.clock.monotonicMs()
  const ended = (): Pick<AttemptResult, 'durationMs' | 'details'> => ({
    durationMs: app.clock.monotonicMs() - startedMs,
    details: {},
  })
  const { to, ...content } = openMail(app.sealer, { messageId, orgId }, body)
  try {
    await app.mail.send({ to, ...renderMail(content, app.config.publicUrl) }, signal)
    return { outcome: 'delivered', status: null, errorCode: null, errorText: null, ...ended() }
  } catch (error) {
    const refused = Refused.safeParse(error)
    if (!refused.success) throw error
    const { responseCode: status, code: errorCode, response: errorText } = refused.data
    return { outcome: 'failed', status, errorCode, errorText, ...ended() }
  }
}

/** The answer of the server, as nodemailer reports it. */
const Refused = z.object({
  responseCode: z.number().int(),
  code: z.string().max(100),
  response: z.string().transform((text) => text.slice(0, 1_000)),
})

/** No page shows the deliveries of mails, so the log names those that are lost. */
function reportLost(app: App, attempts: readonly SettledAttempt[]): void {
  for (const { delivery, result, isExhausted } of attempts)
    if (isExhausted)
      app.log.error(
        { type: delivery.type, org_id: delivery.orgId, delivery_id: delivery.id, error_code: result.errorCode },
        'a mail could not be sent and is given up',
      )
}

/** A mail in both forms, for clients with and without HTML. */
type RenderedMail = Omit<Mail, 'to'>

/** @param publicUrl of the installation, which the footer names */
export function renderMail(content: MailContent, publicUrl: string): RenderedMail {
  const clean = cleaned(content)
  const reason = clean.reason ?? `You receive this mail because you have an account at ${publicUrl}.`
  return {
    subject: clean.subject,
    text: textOf(clean, reason),
    html: htmlOf(clean, reason),
    ...(clean.unsubscribe === undefined ? {} : { unsubscribeUrl: clean.unsubscribe.oneClick }),
  }
}

/** Names of users and organisations reach mails: without control characters they stay on their line. */
const line = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim()

type Link = NonNullable<MailContent['action']>

function cleaned(content: MailContent): MailContent {
  const { subject, name, paragraphs, action, links, details, closing, reason, unsubscribe } = content
  return {
    subject: line(subject),
    name: name === null ? null : line(name),
    paragraphs: paragraphs.map(line),
    ...(action === undefined ? {} : { action: cleanLink(action) }),
    ...(links === undefined ? {} : { links: links.map(cleanLink) }),
    ...(details === undefined ? {} : { details: details.map(([label, value]) => [line(label), line(value)] as const) }),
    ...(closing === undefined ? {} : { closing: closing.map(line) }),
    ...(reason === undefined ? {} : { reason: line(reason) }),
    ...(unsubscribe === undefined ? {} : { unsubscribe }),
  }
}

const cleanLink = ({ label, url }: Link): Link => ({ label: line(label), url: line(url) })

const greeting = (name: string | null): string => (name === null || name === '' ? 'Hello,' : `Hello ${name},`)

function textOf(content: MailContent, reason: string): string {
  const { name, paragraphs, details = [], action, links = [], closing = [], unsubscribe } = content
  const table = details.map(([label, value]) => `${label}: ${value}`).join('\n')
  const shown = [...(action === undefined ? [] : [action]), ...links].map(({ label, url }) => `${label}:\n${url}`)
  const end = unsubscribe === undefined ? '' : `\nUnsubscribe: ${unsubscribe.page}`
  return `${[greeting(name), ...paragraphs, table, ...shown, ...closing, `-- \n${reason}${end}`].filter((part) => part !== '').join('\n\n')}\n`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const BODY = `${FONT};font-size:16px;line-height:24px;color:#1d2129`
const SMALL = `${FONT};font-size:13px;line-height:20px;color:#5c6470`

/**
 * Tables and inline styles, which every mail client shows; no pictures and nothing loaded from elsewhere. Clients with a
 * dark theme change the colours themselves.
 */
function htmlOf(content: MailContent, reason: string): string {
  const { subject, name, paragraphs, details = [], action, links = [], closing = [], unsubscribe } = content
  const p = (text: string, style = BODY) => `<p style="margin:0 0 16px;${style}">${escaped(text)}</p>`
  const rows = details.map(
    ([label, value]) =>
      `<tr><td style="padding:4px 16px 4px 0;${SMALL};white-space:nowrap;vertical-align:top">${escaped(label)}</td><td style="padding:4px 0;${BODY};font-size:14px;line-height:20px">${escaped(value)}</td></tr>`,
  )
  const table =
    rows.length === 0
      ? ''
      : `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px">${rows.join('')}</table>`
  const button =
    action === undefined
      ? ''
      : `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 16px"><tr><td style="border-radius:6px;background:#2f4bd6"><a href="${escaped(action.url)}" style="display:inline-block;padding:12px 20px;${FONT};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${escaped(action.label)}</a></td></tr></table>` +
        `<p style="margin:0 0 16px;${SMALL}">If the button does not work, open this address:<br><a href="${escaped(action.url)}" style="color:#2f4bd6;word-break:break-all">${escaped(action.url)}</a></p>`
  const link = ({ label, url }: Link) => `<a href="${escaped(url)}" style="color:#2f4bd6">${escaped(label)}</a>`
  const further = links.length === 0 ? '' : `<p style="margin:0 0 16px;${BODY}">${links.map(link).join(' · ')}</p>`
  const end = unsubscribe === undefined ? '' : ` ${link({ label: 'Unsubscribe', url: unsubscribe.page })}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(subject)}</title>
</head>
<body style="margin:0;padding:0;background:#f3f4f7">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f4f7"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;background:#ffffff;border:1px solid #dfe2e8;border-radius:8px"><tr><td style="padding:32px 32px 16px">
<p style="margin:0 0 24px;${FONT};font-size:14px;line-height:20px;font-weight:600;color:#5c6470">Faultline</p>
<h1 style="margin:0 0 16px;${FONT};font-size:20px;line-height:28px;font-weight:600;color:#1d2129">${escaped(subject)}</h1>
${[p(greeting(name)), ...paragraphs.map((text) => p(text)), table, button, further, ...closing.map((text) => p(text))].join('\n')}
</td></tr></table>
<p style="margin:16px 0 0;max-width:560px;${SMALL}">${escaped(reason)}${end}</p>
</td></tr></table>
</body>
</html>
`
}
