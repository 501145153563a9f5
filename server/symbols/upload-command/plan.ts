/** A file that `faultline upload` sends. */
export type PlannedUpload = {
  readonly path: string
  readonly sizeBytes: number
  /** The endpoint below the project. */
  readonly to: 'source-maps' | 'dsyms'
  /** Fields of the form beside the file. */
  readonly fields: Readonly<Record<string, string>>
  /** Names by which events find the file, such as `~/static/app.js`, for its line. */
  readonly names: readonly string[]
}

/** The result of looking at paths, before anything is sent. */
export type Plan = {
  readonly uploads: readonly PlannedUpload[]
  /** Lines about files that are not sent because they are of no use. */
  readonly leftOut: readonly string[]
  /** Lines about files that should be sent and cannot be. */
  readonly problems: readonly string[]
}

/** A failure that ends the command with one line, which says what to do. */
export class UploadError extends Error {}
