import type { SealedColumn } from '../storage/sealed-column.ts'
import { z } from 'zod'
import type { Sealer } from '../storage/seal.ts'
import { MailContent } from './mail-content.ts'

/** The mail of a message: its content and receiver. */
const StoredMail = MailContent.extend({ to: z.string() })
export type StoredMail = z.infer<typeof StoredMail>

type Place = { readonly messageId: string; readonly orgId: string }

const placeOf = ({ messageId, orgId }: Place): string => `outbox_messages:body:${messageId}:${orgId}`

/** A link that resets a password must not be readable in the database or in a copy of it. */
export const sealMail = (sealer: Sealer, place: Place, mail: StoredMail): Buffer =>
  Buffer.from(sealer.seal(Buffer.from(JSON.stringify(mail)), placeOf(place)))

export const openMail = (sealer: Sealer, place: Place, body: Buffer): StoredMail =>
  StoredMail.parse(JSON.parse(sealer.open(body.toString(), placeOf(place)).toString()))

/** Mails that wait; bodies of other channels are not sealed. */
export const QUEUED_MAILS: SealedColumn = {
  table: 'outbox_messages',
  column: 'body',
  keys: ['id', 'org_id'],
  isBytes: true,
  placeOf: (messageId = '', orgId = '') => placeOf({ messageId, orgId }),
}
