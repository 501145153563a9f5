import type { App } from '#server/platform/context/app.ts'
import { openMail, type StoredMail } from '#server/platform/mails/sealed-mail.ts'

/** Mails of the outbox to an address, whether sent or not, in their order. */
export async function queuedMails(app: App, to: string): Promise<(StoredMail & { readonly type: string })[]> {
  const { rows } = await app.db.query<{ id: string; org_id: string; type: string; body: Buffer }>(
    `select m.id, m.org_id, m.type, m.body from outbox_messages m
     join outbox_deliveries d on d.message_id = m.id join outbox_lanes l on l.id = d.lane_id
     where l.channel = 'mail' and m.body is not null order by d.seq`,
  )
  return rows
    .map(({ id, org_id: orgId, type, body }) => ({ type, ...openMail(app.sealer, { messageId: id, orgId }, body) }))
    .filter((mail) => mail.to === to)
}

/** The secret of the newest link in a mail to this address. */
export async function linkToken(app: App, to: string): Promise<string> {
  const urls = (await queuedMails(app, to)).flatMap(({ action }) => action?.url ?? [])
  const [, token] = /[?]token=(.+)$/.exec(urls.findLast((url) => url.includes('?token=')) ?? '') ?? []
  if (token === undefined) throw new Error(`There is no mail with a link to ${to}.`)
  return token
}
