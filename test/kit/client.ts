/** A caller of the API with a cookie jar, like a browser of the same origin. */
export type Client = {
  readonly cookies: Map<string, string>
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

export type RequestOptions = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/** `body` is the parsed JSON, or an empty object for other responses; `as` types it. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  readonly text: string
  /** The body, typed as a shape of the contract without a check: the test's expectations are the check. */
  as<T>(): T
}

export function client(url: string): Client {
  const cookies = new Map<string, string>()
  const request = async (method: string, path: string, { body, headers }: RequestOptions = {}): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(cookies.size === 0 ? {} : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=')
      if (value === '' || /max-age=0\b/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : {}
    const answered = parsed as Record<string, unknown>
    return { status: response.status, headers: response.headers, text, body: answered, as: <T>() => answered as T }
  }
  return {
    cookies,
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    delete: (path) => request('DELETE', path),
  }
}
