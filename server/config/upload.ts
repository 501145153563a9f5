import { resolve } from 'node:path'
import type { Environment } from './environment.ts'

/** What `faultline upload` reads, a client of a service. Null where nothing is set. */
export type UploadEnvironment = {
  readonly url: string | null
  readonly token: string | null
  /** Short name or id. */
  readonly project: string | null
  /** The folder that relative paths begin at. */
  readonly folder: string
}

/** Reads the environment of a client. Builds that use a Sentry-family tool have its names set already. */
export function readUploadEnvironment(environment: Environment = process.env): UploadEnvironment {
  const first = (...names: readonly string[]): string | null =>
    names.map((name) => environment[name]?.trim() ?? '').find((value) => value !== '') ?? null
  return {
    url: first('FAULTLINE_URL', 'SENTRY_URL'),
    token: first('FAULTLINE_TOKEN', 'SENTRY_AUTH_TOKEN'),
    project: first('FAULTLINE_PROJECT', 'SENTRY_PROJECT'),
    folder: callersFolder(environment),
  }
}

/**
 * The folder that relative paths of a command begin at. npm runs scripts in the folder of their package, and names the
 * folder that it was started in.
 */
export function callersFolder(environment: Environment = process.env): string {
  const here = process.cwd()
  return here === resolve(import.meta.dirname, '../..') ? (environment['INIT_CWD'] ?? here) : here
}
