import { ConfigError, type Settings } from './environment.ts'

/** The store of all `s3://` addresses. */
export type S3Settings = {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket is in the path of addresses, instead of in their host name. */
  readonly pathStyle: boolean
}

/** `s3://bucket/prefix`, of characters that need no encoding. */
export const S3_ADDRESS = /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(?:\/([\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?)?\/?$/

/** @throws ConfigError when the settings of the store do not fit together */
export function readS3(env: Settings): S3Settings | null {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey, S3_REGION: region } = env
  if (accessKeyId === undefined && secretAccessKey === undefined) return null
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or none.')
  return Object.freeze({
    endpoint: env.S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
    // MinIO, Ceph and R2 take it, and their certificates often name one host.
    pathStyle: env.S3_PATH_STYLE === undefined ? env.S3_ENDPOINT !== undefined : env.S3_PATH_STYLE === '1',
  })
}

export function checkS3Address(name: string, address: string, env: Settings): string {
  if (!S3_ADDRESS.test(address))
    throw new ConfigError(
      `${name} must be s3://bucket/prefix, of letters, digits, dots, hyphens and underscores (it is ${JSON.stringify(address)}).`,
    )
  if (env.S3_ACCESS_KEY_ID === undefined)
    throw new ConfigError(`${name} needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, the key of the store.`)
  return address.replace(/\/$/, '')
}
