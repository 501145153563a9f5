import type { ContentEncoding } from '../../platform/kernel/inflate.ts'

/** Values that many events of a project share: rows of events hold their numbers. Empty and null are unknown. */
export type EventValues = {
  /** Name of the operating system, without version. */
  readonly os: string | null
  /** Model of the device. */
  readonly device: string | null
  readonly exceptionType: string | null
}

/** A stored event: fields for queries, and its body. */
export type StoredEvent = {
  readonly projectId: string
  /** 32 lower-case hex digits. */
  readonly eventId: string
  readonly issueId: string
  readonly receivedAt: Date
  readonly occurredAt: Date
  readonly sentAt: Date | null
  readonly level: string
  readonly release: string | null
  readonly environment: string
  readonly clientIp: string | null
  readonly userAgent: string | null
  /** Hash of the user, as in `issue_users`: 52 bits, which a number represents exactly. */
  readonly userHash: number | null
  /** Absent: unknown. */
  readonly values?: EventValues
  readonly encoding: ContentEncoding
  /** The event's JSON is `decoded.subarray(bodyStart, bodyEnd)`. */
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly body: Buffer
}

/** Event ids are unique per project during this number of received days. */
export const UNIQUE_DAYS = 7
