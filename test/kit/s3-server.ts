import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { S3Settings } from '#server/config/object-store.ts'

/**
 * A store that speaks the wire format of S3: signature version 4 verified by an implementation of its own, ranges,
 * multipart uploads, copies of parts, lists in pages, errors in XML; and faults on demand. It has one bucket, `bucket`.
 */
export type S3Server = {
  readonly url: string
  readonly settings: S3Settings
  /** By key. */
  readonly objects: Map<string, { body: Buffer; modifiedAt: Date }>
  /** Parts of uploads that were neither completed nor aborted, by id of the upload. */
  readonly uploads: Map<string, { key: string; parts: Map<number, Buffer> }>
  /** `METHOD key?query` of all requests that were answered, also with a fault. */
  readonly requests: string[]
  /** Asked before each request: what goes wrong with it. */
  fault: (request: { method: string; key: string; query: URLSearchParams }) => Fault | null
  now: () => Date
  /** The largest body that was received. */
  largestBytes: number
  close(): Promise<void>
}

export type Fault =
  | { readonly status: number; readonly code: string }
  /** Sends half of the answer, and ends the connection. */
  | 'cut'
  /** Ends the connection before an answer, after the request had its effect. */
  | 'lost'
  /** Gives no answer. */
  | 'silent'

const BUCKET = 'bucket'
const MAX_KEYS = 100
const MIN_PART_BYTES = 5 * 1024 * 1024
const MAX_SKEW_MS = 15 * 60_000

class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string }

export async function startS3Server(): Promise<S3Server> {
  const keys = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret/of+the=store' }
  let uploadNumber = 0
  const silent = new Set<ServerResponse>()
  const http = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: S3Server = {
    url,
    settings: { endpoint: url, region: 'eu-test-1', ...keys, pathStyle: true },
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    fault: () => null,
    now: () => new Date(),
    largestBytes: 0,
    async close() {
      for (const one of silent) one.destroy()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => Buffer.alloc(0))
    server.largestBytes = Math.max(server.largestBytes, body.length)
    const { pathname, searchParams: query } = new URL(request.url ?? '/', url)
    const [, bucket = '', ...rest] = pathname.split('/')
    const key = rest.join('/')
    const method = request.method ?? ''
    server.requests.push(`${method} ${key}${query.size === 0 ? '' : `?${query.toString()}`}`)
    const fault = server.fault({ method, key, query })
    if (fault === 'silent') return void silent.add(response)
    let answer: Answer
    try {
      if (typeof fault === 'object' && fault !== null) throw new Refused(fault.status, fault.code)
      verify(request, body, pathname, query)
      if (bucket !== BUCKET) throw new Refused(404, 'NoSuchBucket')
      answer = act(method, key, query, request, body)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      answer = { status: error.status, body: `<Error><Code>${error.code}</Code><Message>refused</Message></Error>` }
    }
    if (fault === 'lost') return void request.socket.destroy()
    const bytes = Buffer.from(answer.body ?? '')
    response.writeHead(answer.status, {
      date: server.now().toUTCString(),
      ...(answer.status === 204 ? {} : { 'content-length': bytes.length }),
      ...answer.headers,
    })
    if (fault !== 'cut') return void response.end(method === 'HEAD' ? undefined : bytes)
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy())
  }

  function verify(request: IncomingMessage, body: Buffer, pathname: string, query: URLSearchParams): void {
    const parts =
      /Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        request.headers.authorization ?? '',
      )
    if (parts === null) throw new Refused(403, 'AccessDenied')
    const [, id = '', day = '', region = '', signed = '', signature] = parts
    if (id !== keys.accessKeyId) throw new Refused(403, 'InvalidAccessKeyId')
    if (region !== server.settings.region) throw new Refused(400, 'AuthorizationHeaderMalformed')
    const time = String(request.headers['x-amz-date'])
    const sentMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..)Z$/, '$1-$2-$3:$4:$5Z'))
    if (Math.abs(sentMs - server.now().getTime()) > MAX_SKEW_MS) throw new Refused(403, 'RequestTimeTooSkewed')
    const bodyHash = createHash('sha256').update(body).digest('hex')
    if (request.headers['x-amz-content-sha256'] !== bodyHash) throw new Refused(400, 'XAmzContentSHA256Mismatch')
    const encode = (text: string): string =>
      encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    const canonical = [
      request.method,
      pathname.split('/').map(encode).join('/'),
      [...query]
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .toSorted()
        .join('&'),
      ...signed.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}`),
      '',
      signed,
      bodyHash,
    ].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
    let secret: Buffer | string = `AWS4${keys.secretAccessKey}`
    for (const part of [day, region, 's3', 'aws4_request']) secret = createHmac('sha256', secret).update(part).digest()
    if (createHmac('sha256', secret).update(text).digest('hex') !== signature)
      throw new Refused(403, 'SignatureDoesNotMatch')
  }

  function act(
    method: string,
    key: string,
    query: URLSearchParams,
    { headers }: IncomingMessage,
    body: Buffer,
  ): Answer {
    const uploadId = query.get('uploadId')
    if (key === '' && query.has('uploads')) {
      const prefix = query.get('prefix') ?? ''
      const open = [...server.uploads].filter(([, upload]) => upload.key.startsWith(prefix))
      const xml = open.map(([id, upload]) => `<Upload><Key>${upload.key}</Key><UploadId>${id}</UploadId></Upload>`)
      return { status: 200, body: `<ListMultipartUploadsResult>${xml.join('')}</ListMultipartUploadsResult>` }
    }
    if (key === '') return listObjects(query)
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${++uploadNumber}`
      server.uploads.set(id, { key, parts: new Map() })
      return { status: 200, body: `<R><UploadId>${id}</UploadId></R>` }
    }
    if (uploadId !== null) return actOnUpload(method, key, uploadId, query, headers, body)
    if (method === 'PUT') {
      server.objects.set(key, { body, modifiedAt: server.now() })
      return { status: 200, headers: { etag: tagOfBody(body) } }
    }
    if (method === 'DELETE') {
      server.objects.delete(key)
      return { status: 204 }
    }
    const object = server.objects.get(key)
    if (object === undefined) throw new Refused(404, 'NoSuchKey')
    const etag = tagOfBody(object.body)
    if (headers['if-match'] !== undefined && headers['if-match'] !== etag) throw new Refused(412, 'PreconditionFailed')
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '')
    if (range === null) return { status: 200, headers: { etag }, body: object.body }
    const end = range[2] === '' ? object.body.length : Number(range[2]) + 1
    return { status: 206, headers: { etag }, body: object.body.subarray(Number(range[1]), end) }
  }

  function actOnUpload(
    method: string,
    key: string,
    id: string,
    query: URLSearchParams,
    headers: IncomingMessage['headers'],
    body: Buffer,
  ): Answer {
    const upload = server.uploads.get(id)
    if (upload === undefined || upload.key !== key) throw new Refused(404, 'NoSuchUpload')
    if (method === 'DELETE') {
      server.uploads.delete(id)
      return { status: 204 }
    }
    if (method === 'PUT') {
      const source = headers['x-amz-copy-source']
      const part = source === undefined ? body : partOfCopy(String(source), headers['x-amz-copy-source-range'])
      upload.parts.set(Number(query.get('partNumber')), part)
      if (source !== undefined)
        return { status: 200, body: `<CopyPartResult><ETag>${tagOfBody(part)}</ETag></CopyPartResult>` }
      return { status: 200, headers: { etag: tagOfBody(part) } }
    }
    const named = [
      ...body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>("[0-9a-f]+")<\/ETag><\/Part>/g),
    ]
    const parts = named.map(([, number, tag]) => {
      const part = upload.parts.get(Number(number))
      if (part === undefined || tagOfBody(part) !== tag) throw new Refused(400, 'InvalidPart')
      return part
    })
    if (parts.slice(0, -1).some((part) => part.length < MIN_PART_BYTES)) throw new Refused(400, 'EntityTooSmall')
    server.objects.set(key, { body: Buffer.concat(parts), modifiedAt: server.now() })
    server.uploads.delete(id)
    return { status: 200, body: '<CompleteMultipartUploadResult/>' }
  }

  function partOfCopy(source: string, range: string | string[] | undefined): Buffer {
    const from = server.objects.get(source.replace(`/${BUCKET}/`, ''))
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(String(range)) ?? []
    if (from === undefined) throw new Refused(404, 'NoSuchKey')
    return from.body.subarray(Number(start), Number(end) + 1)
  }

  function listObjects(query: URLSearchParams): Answer {
    const after = query.get('continuation-token') ?? ''
    const found = [...server.objects]
      .filter(([key]) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
    const page = found.slice(0, MAX_KEYS)
    const more = found.length > page.length ? `<NextContinuationToken>${page.at(-1)?.[0]}</NextContinuationToken>` : ''
    const xml = page.map(
      ([key, { body, modifiedAt }]) =>
        `<Contents><Key>${key}</Key><LastModified>${modifiedAt.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`,
    )
    return { status: 200, body: `<ListBucketResult>${xml.join('')}${more}</ListBucketResult>` }
  }

  return server
}

const tagOfBody = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`
