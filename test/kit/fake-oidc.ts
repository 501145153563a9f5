import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { allowPage } from './fake-github.ts'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'

/** An OIDC provider that does as a test says: honest by default, hostile in each of its answers. */

export type Claims = Readonly<Record<string, unknown>>

export type Sent = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Differences of a tenant. */
export type Plan = {
  readonly discovery?: (document: Claims, issuer: string) => Sent
  readonly keys?: (keys: readonly JWK[]) => Sent
  readonly claims?: (claims: Claims) => Claims
  readonly header?: Readonly<Record<string, unknown>>
  /** The whole ID token, from the claims. */
  readonly idToken?: (claims: Claims, provider: FakeOidc) => Promise<string>
  readonly token?: (answer: Claims) => Sent | 'silence'
  readonly userinfo?: (claims: Claims) => Sent
}

export type Tenant = {
  readonly issuer: string
  /** Changes what it does from now on. */
  plan(plan: Plan): void
  /** Whom its page of authorization shows as signed in, for a browser that goes there. */
  signIn(user: Claims): void
  /** The user logs in: the query with which the provider sends the browser back. */
  authorize(location: string, user: Claims): URLSearchParams
  /** Paths that were asked for. */
  readonly asked: string[]
}

export type FakeOidc = {
  readonly url: string
  readonly key: CryptoKey
  readonly publicJwk: JWK
  tenant(plan?: Plan): Tenant
  /** Signs as the provider, or with another key. */
  sign(claims: Claims, header?: Readonly<Record<string, unknown>>, key?: CryptoKey): Promise<string>
  /** New keys in place of the old ones. */
  rotate(): Promise<void>
  close(): Promise<void>
}

export const FAKE_CLIENT = { client_id: 'faultline', client_secret: 'canary-client-secret-7731' } as const

const json = (body: unknown): Sent => ({ body })

/** @param now the clock of the provider */
export async function fakeOidc(now: () => Date): Promise<FakeOidc> {
  const tenants = new Map<
    string,
    {
      plan: Plan
      page?: (location: string) => Sent
      asked: string[]
      codes: Map<string, { user: Claims; sent: URLSearchParams }>
    }
  >()
  let count = 0
  let pair = await generateKeyPair('RS256')
  let kid = 'key-1'
  let url = ''

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      void answer(request.url ?? '', request.headers, Buffer.concat(chunks).toString()).then((sent) => {
        if (sent === 'silence') return
        const isText = typeof sent.body === 'string'
        response.writeHead(sent.status ?? 200, {
          'content-type': isText ? 'text/html' : 'application/json',
          ...sent.headers,
        })
        response.end(isText ? sent.body : JSON.stringify(sent.body))
      })
    })
  })

  async function answer(
    path: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: string,
  ): Promise<Sent | 'silence'> {
    const [, id = '', ...rest] = (path.split('?', 1)[0] ?? '').split('/')
    const tenant = tenants.get(id)
    if (tenant === undefined) return { status: 404, body: {} }
    const { plan } = tenant
    const issuer = `${url}/${id}`
    tenant.asked.push(rest.join('/'))
    switch (rest.join('/')) {
      case '.well-known/openid-configuration': {
        const document = {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          userinfo_endpoint: `${issuer}/userinfo`,
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          authorization_response_iss_parameter_supported: true,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
        }
        return plan.discovery?.(document, issuer) ?? json(document)
      }
      case 'authorize':
        return tenant.page?.(`${url}${path}`) ?? { status: 404, body: {} }
      case 'keys': {
        const keys = [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }]
        return plan.keys?.(keys) ?? json({ keys })
      }
      case 'token': {
        const form = new URLSearchParams(body)
        const basic = Buffer.from(String(headers['authorization']).replace('Basic ', ''), 'base64').toString()
        // RFC 6749, 2.3.1: both parts are form-encoded.
        const [id, secret] = basic.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
        if (id !== FAKE_CLIENT.client_id || secret !== FAKE_CLIENT.client_secret)
          return { status: 401, body: { error: 'invalid_client' } }
        const code = form.get('code') ?? ''
        const known = tenant.codes.get(code)
        tenant.codes.delete(code)
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        const isRight =
          known?.sent.get('code_challenge') === challenge && known.sent.get('redirect_uri') === form.get('redirect_uri')
        if (known === undefined || !isRight) return { status: 400, body: { error: 'invalid_grant' } }
        const seconds = Math.floor(now().getTime() / 1000)
        const claims = {
          iss: issuer,
          aud: FAKE_CLIENT.client_id,
          iat: seconds,
          exp: seconds + 300,
          nonce: known.sent.get('nonce'),
          ...known.user,
        }
        const planned = plan.claims?.(claims) ?? claims
        const idToken = await (plan.idToken?.(planned, fake) ?? fake.sign(planned, plan.header))
        const made = { access_token: `access-${code}`, token_type: 'Bearer', expires_in: 300, id_token: idToken }
        tenant.codes.set(`access-${code}`, known)
        return plan.token?.(made) ?? json(made)
      }
      case 'userinfo': {
        const known = tenant.codes.get(String(headers['authorization'] ?? '').replace('Bearer ', ''))
        if (known === undefined) return { status: 401, body: { error: 'invalid_token' } }
        return plan.userinfo?.(known.user) ?? json(known.user)
      }
      default:
        return { status: 404, body: {} }
    }
  }

  const fake: FakeOidc = {
    get url() {
      return url
    },
    get key() {
      return pair.privateKey
    },
    get publicJwk() {
      return { kid, kty: 'RSA' }
    },
    tenant(plan = {}) {
      count += 1
      const id = `tenant-${count}`
      const state: NonNullable<ReturnType<typeof tenants.get>> = { plan, asked: [], codes: new Map() }
      tenants.set(id, state)
      const made: Tenant = {
        issuer: `${url}/${id}`,
        asked: state.asked,
        plan: (next) => void (state.plan = next),
        signIn(user) {
          state.page = (location) => {
            const back = new URL(new URL(location).searchParams.get('redirect_uri') ?? '')
            back.search = made.authorize(location, user).toString()
            return { body: allowPage(back) }
          }
        },
        authorize(location, user) {
          const sent = new URL(location).searchParams
          count += 1
          state.codes.set(`code-${count}`, { user, sent })
          return new URLSearchParams({ code: `code-${count}`, state: sent.get('state') ?? '', iss: `${url}/${id}` })
        },
      }
      return made
    },
    sign: (claims, header = {}, key = pair.privateKey) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(key),
    async rotate() {
      pair = await generateKeyPair('RS256')
      kid = `${kid}+`
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}
