import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError, webUrl, type Settings } from './environment.ts'

/** The service account of a Firebase project. */
export type FcmSettings = {
  readonly baseUrl: string
  readonly projectId: string
  readonly clientEmail: string
  readonly privateKey: KeyObject
  readonly privateKeyId: string | null
  readonly tokenUrl: string
}

/** The parts that we use of the file that Google calls a key of a service account. */
const ServiceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().regex(/^[a-z0-9.:-]{1,100}$/i),
  client_email: z.string().min(3),
  private_key: z.string(),
  private_key_id: z.string().optional(),
  token_uri: webUrl.default('https://oauth2.googleapis.com/token'),
})

/** @throws ConfigError when the file is not the key of a service account; it names no content */
export function readFcm(env: Settings): FcmSettings | null {
  const path = env.FCM_SERVICE_ACCOUNT
  if (path === undefined) return null
  try {
    const account = ServiceAccount.parse(JSON.parse(readFileSync(path, 'utf8')))
    return Object.freeze({
      baseUrl: env.FCM_BASE_URL,
      projectId: account.project_id,
      clientEmail: account.client_email,
      privateKey: createPrivateKey(account.private_key),
      privateKeyId: account.private_key_id ?? null,
      tokenUrl: account.token_uri,
    })
  } catch {
    throw new ConfigError(
      `FCM_SERVICE_ACCOUNT must name a readable file with the JSON key of a service account of Firebase (it is ${JSON.stringify(path)}).`,
    )
  }
}
