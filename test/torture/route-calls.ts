import { contract } from '#server/service/api/contract.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import type { ExampleCall } from '#test/kit/route-examples.ts'

export type RouteName = keyof typeof contract
export type Route = { readonly name: RouteName; readonly spec: RouteSpec }

/** Routes of accounts, sessions, ways to sign in, members, invitations and keys. */
export const authRoutes = (): readonly Route[] =>
  (Object.keys(contract) as RouteName[])
    .map((name): Route => ({ name, spec: contract[name] }))
    .filter(({ spec }) => /^\/api\/(?:auth|me|team|invites|api-keys)(?:\/|$)/.test(spec.path))

export type CallAnswer = { readonly status: number; readonly text: string; readonly headers: Headers }

/** Calls a route with an example. @param query is added to the example's query */
export async function callRoute(
  url: string,
  { spec }: Route,
  call: ExampleCall,
  headers: Readonly<Record<string, string>>,
  query = '',
): Promise<CallAnswer> {
  const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(call.params?.[name] ?? newId()))
  const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
  const search = [call.query?.slice(1), query].filter((part) => part !== undefined && part !== '').join('&')
  const response = await fetch(`${url}${path}${search === '' ? '' : `?${search}`}`, {
    method: spec.method,
    redirect: 'manual',
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers, ...headers },
    body: body ?? null,
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Cookies that an answer sets, without those that it clears. */
export const setCookiesOf = ({ headers }: CallAnswer): Map<string, string> =>
  new Map(
    headers
      .getSetCookie()
      .map((line) => (line.split(';', 1)[0] ?? '').split('=', 2) as [string, string])
      .filter(([, value]) => value !== '' && value !== undefined),
  )
