import type { z } from 'zod'
import type { RemoteTicket } from './tracker.ts'

/** A request to the REST API of one repository. @param path below the repository, with its query @throws TrackerError */
export type AskHost = <T>(
  schema: z.ZodType<T>,
  method: 'GET' | 'POST' | 'PATCH' | 'PUT',
  path: string,
  json?: unknown,
) => Promise<T>

/** The issues of a repository. Each kind of code host has one file. */
export type HostIssues = {
  /** Whether the repository has issues that the token may read. @throws TrackerError */
  haveIssues(): Promise<boolean>
  create(title: string, text: string): Promise<RemoteTicket>
  /** The newest issue whose text has the word. */
  find(word: string): Promise<RemoteTicket | null>
  read(id: string): Promise<RemoteTicket>
  /** Opens a closed issue. */
  open(id: string): Promise<RemoteTicket>
  /** Whether one of the newest comments has the word. */
  hasComment(id: string, word: string): Promise<boolean>
  comment(id: string, text: string): Promise<void>
}
