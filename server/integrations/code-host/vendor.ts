import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { Provider } from './code-host.api.ts'

/** A kind of code host behind one interface: its webhooks, its REST API, its addresses. One file for each. */

/** The REST API of a code host, for one repository. */
export type HostClient = {
  readonly repositoryUrl: string
  /**
   * @param path below the repository in the API, with its query
   * @returns null for 404 and 422, which mean that a commit, branch or file does not exist
   * @throws HostError
   */
  get<T>(path: string, schema: z.ZodType<T>): Promise<T | null>
}

/** A changed file. `lines` are ranges of the new file, `[first, count]`; both are absent while they are not fetched. */
export type ChangedFile = {
  readonly path: string
  readonly type: 'A' | 'M' | 'D'
  readonly lines?: readonly (readonly [number, number])[] | undefined
  /** The change as a unified diff, cut. */
  readonly patch?: string | undefined
}

export type HostCommit = {
  readonly sha: string
  readonly message: string
  readonly authorName: string | null
  readonly authorEmail: string | null
  /** The name of the account at the code host. */
  readonly authorLogin: string | null
  readonly committedAt: Date
  /** Null when the code host did not send them. */
  readonly files: readonly ChangedFile[] | null
}

export type PushEvent = {
  readonly kind: 'push'
  readonly branch: string | null
  readonly tag: string | null
  readonly defaultBranch: string | null
  /** Null when the branch or tag is new. */
  readonly before: string | null
  /** Null when it was deleted. */
  readonly after: string | null
  readonly isForced: boolean
  /** Oldest first. */
  readonly commits: readonly HostCommit[]
  /** The push has more commits than it names. */
  readonly isCut: boolean
  readonly pusher: string | null
}

export type PullEvent = {
  readonly kind: 'pull'
  readonly number: number
  readonly title: string
  readonly text: string
  readonly state: 'open' | 'merged' | 'closed'
  readonly mergeSha: string | null
  readonly mergedAt: Date | null
  readonly base: string
  readonly defaultBranch: string | null
  readonly author: string | null
}

export type ReleaseEvent = {
  readonly kind: 'release'
  readonly tag: string
  readonly sha: string | null
  readonly at: Date
}

/** An issue of the repository changed. */
export type IssueEvent = { readonly kind: 'issue'; readonly number: number }

export type HostEvent =
  | PushEvent
  | PullEvent
  | ReleaseEvent
  | IssueEvent
  | { readonly kind: 'ping' }
  | { readonly kind: 'other' }

export type DeliveryHead = { readonly id: string | null; readonly event: string }

export type Vendor = {
  readonly provider: Provider
  readonly label: string
  /** The host whose provider need not be named. */
  readonly publicHost: string
  /** How a pull request is written: `#12` or `!12`. */
  readonly pullSign: string
  /** Whether the headers and bytes of a delivery prove that the sender knows the secret. */
  verify(headers: IncomingHttpHeaders, body: Buffer, secret: string, now: Date): boolean
  head(headers: IncomingHttpHeaders): DeliveryHead
  /** @throws ZodError when the payload of a known event has another shape */
  read(event: string, payload: unknown): HostEvent
  /** Folders where a CODEOWNERS file counts, in the order of the code host. */
  readonly ownersPaths: readonly string[]
  /** The address of a path of the REST API for this repository. */
  apiUrl(repositoryUrl: string, path: string): string
  tokenHeaders(token: string): Readonly<Record<string, string>>
  readonly fileUrl: (repositoryUrl: string, ref: string, path: string) => string
  readonly commitUrl: (repositoryUrl: string, sha: string) => string
  readonly pullUrl: (repositoryUrl: string, number: number) => string
  /** The default branch. */
  readDefaultBranch(client: HostClient): Promise<string>
  /** Commits after `base` up to `head`, oldest first, without files; null when the code host knows no such range. */
  compare(client: HostClient, base: string, head: string): Promise<readonly HostCommit[] | null>
  /** The newest commit of a branch, tag or abbreviated hash; null when it does not exist. */
  readCommitId(client: HostClient, ref: string): Promise<string | null>
  /** Files of a commit with their lines; null when it does not exist. */
  readFiles(client: HostClient, sha: string): Promise<readonly ChangedFile[] | null>
  /** Paths of files of a branch, at most as many as the code host and `max` allow. */
  listPaths(client: HostClient, ref: string, max: number): Promise<readonly string[]>
  /** The text of a file; null when it does not exist. */
  readText(client: HostClient, ref: string, path: string): Promise<string | null>
}
