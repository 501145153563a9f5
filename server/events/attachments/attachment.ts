import { countedWord } from '../../platform/kernel/value-text.ts'
import type { BlobUse } from '../../platform/blobs/blobs.queries.ts'
import type { Refusal } from './attachments.api.ts'
import { storable } from '../protocol/strings.ts'

/** A file that is not stored yet. */
export type Attachment = {
  /** 32 lower-case hex digits. The event may arrive later or never. */
  readonly eventId: string
  /** Cleaned by {@link cleanFilename}. */
  readonly filename: string
  readonly contentType: string
  readonly attachmentType: string
  readonly content: BlobUse['content']
}

/** Item types that are stored unchanged, and the setting that enables it. */
export const RAW_TYPES: ReadonlyMap<string, 'storeProfiles' | 'storeReplays'> = new Map([
  ['profile', 'storeProfiles'],
  ['profile_chunk', 'storeProfiles'],
  ['replay_event', 'storeReplays'],
  ['replay_recording', 'storeReplays'],
  ['replay_video', 'storeReplays'],
])

const MAX_FILENAME = 200
const MAX_CONTENT_TYPE = 100

/** Control characters, characters that Windows forbids, and marks that change the reading direction ("gpj.exe"). */
const UNWANTED = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069<>:"|?*]/g

/**
 * A file name, never a path: the last part of the given name, without characters that could mislead a shell, a file system
 * or a reader; at most 200 characters. `attachment` when nothing remains.
 */
export function cleanFilename(raw: unknown): string {
  if (typeof raw !== 'string') return 'attachment'
  const last = storable(raw.slice(-2_000)).replaceAll('\\', '/').split('/').at(-1) ?? ''
  const name = last
    .replace(UNWANTED, '')
    .trim()
    .replace(/^\.+/, '')
    .replace(/[. ]+$/, '')
  if (name === '') return 'attachment'
  if (name.length <= MAX_FILENAME) return name
  // Keeps the ending, which names the type.
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''
  return storable(name.slice(0, MAX_FILENAME - ending.length)) + ending
}

/** `type/subtype` in lower case without parameters; `application/octet-stream` for anything else. */
export function cleanContentType(raw: unknown): string {
  const type = typeof raw === 'string' ? raw.slice(0, 300).split(';', 1)[0]?.trim().toLowerCase() : undefined
  return type !== undefined && type.length <= MAX_CONTENT_TYPE && /^[\w.+-]+\/[\w.+-]+$/.test(type)
    ? type
    : 'application/octet-stream'
}

/** Attachment types of SDKs (docs/protocol.md §11.4). Any other value becomes the first one. */
const ATTACHMENT_TYPES = [
  'event.attachment',
  'event.minidump',
  'event.applecrashreport',
  'event.view_hierarchy',
  'unreal.context',
  'unreal.logs',
] as const

export const cleanAttachmentType = (raw: unknown): string =>
  ATTACHMENT_TYPES.find((type) => type === raw) ?? 'event.attachment'

/** Image types that browsers show without running code, by their first bytes: names and claimed types prove nothing. */
const IMAGES: readonly (readonly [type: string, is: (head: Buffer) => boolean])[] = [
  ['image/png', (head) => head.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (head) => head.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6))],
  ['image/webp', (head) => /^RIFF[^]{4}WEBP/.test(head.toString('latin1', 0, 12))],
]

/** The content type to serve: one of four image types if the content is one, else application/octet-stream. */
export const servedType = (head: Buffer): string => IMAGES.find(([, is]) => is(head))?.[0] ?? 'application/octet-stream'

/** Whether the dashboard offers a preview, by the claimed type. The content decides when the file is served. */
export const isImageType = (contentType: string): boolean => IMAGES.some(([type]) => type === contentType)

/** Maximum size of an attachment in an envelope, in bytes. */
export const MAX_ATTACHMENT_BYTES = 20 * 1024 * 1024
/** Maximum attachments of an envelope. */
export const MAX_ATTACHMENTS = 30

/** A file that was refused: its event names it. */
export type RefusedFile = {
  readonly eventId: string
  /** Cleaned by {@link cleanFilename}. */
  readonly filename: string
  readonly contentType: string
  readonly attachmentType: string
  readonly sizeBytes: number
  readonly refusal: Refusal
}

const MIB = 1024 * 1024

const sizeText = (bytes: number): string =>
  bytes >= MIB
    ? `${(bytes / MIB).toLocaleString('en-GB', { maximumFractionDigits: 1 })} MiB`
    : bytes >= 1024
      ? `${(bytes / 1024).toLocaleString('en-GB', { maximumFractionDigits: 1 })} KiB`
      : countedWord(bytes, 'byte')

/** Says which file was refused and why: `heap.dump (22 MiB) was refused: an attachment has at most 20 MiB.` */
export function refusalSentence(filename: string, sizeBytes: number, refusal: Refusal): string {
  const why = {
    too_large: `an attachment has at most ${MAX_ATTACHMENT_BYTES / MIB} MiB`,
    too_many: `an envelope has at most ${MAX_ATTACHMENTS} attachments`,
    rate_limited: 'the limit of the key or of the organisation was reached',
    upload: 'resumable uploads are not offered',
  }[refusal]
  return `${filename} (${sizeText(sizeBytes)}) was refused: ${why}.`
}
