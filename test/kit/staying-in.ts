import type { Founder } from './product.ts'

/** Logs in again when the session has ended, because the clock moved. */
export function stayingIn(founder: Founder): Founder {
  const request: Founder['request'] = async (...call) => {
    const answer = await founder.request(...call)
    if (answer.status !== 401) return answer
    founder.cookies.clear()
    await founder.post('/api/auth/login', { email: founder.email, password: founder.password })
    return founder.request(...call)
  }
  return {
    ...founder,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    delete: (path) => request('DELETE', path),
  }
}
