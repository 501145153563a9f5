/** A caller of the API with a cookie jar, as a browser of the same origin would be. */
export type Client = {
  readonly cookies: Map<string, string>
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

export type RequestOptions = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/** `body` is parsed JSON where the answer is JSON, else an empty object; `as` says what a test takes it for. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  readonly text: string
  /** The body, taken for a shape of the contract; what the test expects of it judges whether it was. */
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
