import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** GitHub Enterprise Server as its documentation describes it: the web flow of OAuth apps, with PKCE, and `GET /user`. */

export type GithubAccount = { readonly id: number; readonly login: string }

export type FakeGithub = {
  readonly url: string
  /** The user allows the app: the query with which GitHub sends the browser back. */
  authorize(location: string, account: GithubAccount): URLSearchParams
  /** Whom its page of authorization shows as signed in, for a browser that goes there. */
  signIn(account: GithubAccount): void
  /** Answers `GET /user` with this in place of the account; undefined is honest again. */
  answerUser(answer: { readonly status: number; readonly body: unknown } | undefined): void
  close(): Promise<void>
}

export const GITHUB_CLIENT = { id: 'Iv1.8a61f9b3a7aba766', secret: 'canary-github-secret-4410' } as const

const DOCS = 'https://docs.github.com/apps/troubleshooting'

export async function fakeGithub(): Promise<FakeGithub> {
  const codes = new Map<string, { account: GithubAccount; sent: URLSearchParams }>()
  const tokens = new Map<string, GithubAccount>()
  let present: GithubAccount | undefined
  let userAnswer: { readonly status: number; readonly body: unknown } | undefined

  /** Errors of the exchange have status 200. */
  const exchange = (form: URLSearchParams): Record<string, string> => {
    const error = (name: string, text: string) => ({ error: name, error_description: text, error_uri: DOCS })
    if (form.get('client_id') !== GITHUB_CLIENT.id || form.get('client_secret') !== GITHUB_CLIENT.secret)
      return error('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.')
    const code = form.get('code') ?? ''
    const known = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (known === undefined || known.sent.get('code_challenge') !== challenge)
      return error('bad_verification_code', 'The code passed is incorrect or expired.')
    if (form.get('redirect_uri') !== known.sent.get('redirect_uri'))
      return error(
        'redirect_uri_mismatch',
        'The redirect_uri MUST match the registered callback URL for this application.',
      )
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, known.account)
    return { access_token: token, scope: 'read:user', token_type: 'bearer' }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, method, url } = request
      const send = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
      }
      if (method === 'GET' && url?.startsWith('/login/oauth/authorize?') === true && present !== undefined) {
        const back = new URL(new URL(url, fake.url).searchParams.get('redirect_uri') ?? '')
        back.search = fake.authorize(new URL(url, fake.url).href, present).toString()
        return response.writeHead(200, { 'content-type': 'text/html' }).end(allowPage(back))
      }
      if (method === 'POST' && url === '/login/oauth/access_token') {
        const answer = exchange(new URLSearchParams(Buffer.concat(chunks).toString()))
        if (headers.accept === 'application/json') return send(200, answer)
        response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' })
        return response.end(new URLSearchParams(answer).toString())
      }
      if (method === 'GET' && url === '/api/v3/user') {
        if (headers['user-agent'] === undefined)
          return send(403, { message: 'Request forbidden by administrative rules.' })
        if (userAnswer !== undefined) return send(userAnswer.status, userAnswer.body)
        const account = tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''))
        if (account === undefined)
          return send(401, { message: 'Bad credentials', documentation_url: DOCS, status: '401' })
        return send(200, {
          ...account,
          node_id: 'MDQ6VXNlcjE=',
          type: 'User',
          name: null,
          email: null,
          site_admin: false,
        })
      }
      return send(404, { message: 'Not Found', documentation_url: DOCS })
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const fake: FakeGithub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signIn: (account) => void (present = account),
    authorize(location, account) {
      const sent = new URL(location).searchParams
      const code = randomBytes(10).toString('hex')
      codes.set(code, { account, sent })
      return new URLSearchParams({ code, state: sent.get('state') ?? '' })
    },
    answerUser: (answer) => void (userAnswer = answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fake
}

/** The page of a provider on which the user allows the app. */
export const allowPage = (back: URL): string =>
  `<!doctype html><title>Provider</title><a href="${back.href.replaceAll('&', '&amp;')}">Allow</a>`
