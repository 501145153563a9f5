/** A request that an S3-speaking store refused, or that did not reach it. The message is one line that says what to do. */
export class S3Error extends Error {
  override name = 'S3Error'
  /** The code of the answer, such as `NoSuchKey`; `Unreachable` without an answer. */
  readonly code: string
  readonly isTransient: boolean

  constructor(code: string, message: string, isTransient: boolean, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.isTransient = isTransient
  }
}

/** Codes that a later attempt may not get again, whatever their status. */
const TRANSIENT = new Set(['SlowDown', 'RequestTimeout', 'InternalError', 'ServiceUnavailable', 'Throttling'])

type Refusal = {
  readonly status: number
  readonly headers: Headers
  /** The XML of the answer; empty for a HEAD. */
  readonly text: string
}
type Asked = { readonly bucket: string; readonly endpoint: string; readonly region: string; readonly now: Date }

/** Explains an answer that is no success. */
export function explainRefusal({ status, headers, text }: Refusal, asked: Asked): S3Error {
  const code = readTag(text, 'Code') ?? codeOfStatus(status)
  const isTransient = status >= 500 || status === 429 || status === 408 || TRANSIENT.has(code)
  const region = headers.get('x-amz-bucket-region') ?? readTag(text, 'Region')
  return new S3Error(code, `${whatToDo(code, region, headers.get('date'), asked)} (${status} ${code})`, isTransient)
}

/** Explains an attempt without an answer, or one whose answer was cut off. */
export function explainFailure(error: unknown, { endpoint }: Pick<Asked, 'endpoint'>): S3Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const reason =
    cause instanceof Error && 'code' in cause
      ? String(cause.code)
      : cause instanceof Error
        ? cause.message
        : 'no reason'
  return new S3Error(
    'Unreachable',
    `${endpoint} does not answer (${reason}). Check S3_ENDPOINT, the network and the store.`,
    true,
    { cause: error },
  )
}

function codeOfStatus(status: number): string {
  // A store names the missing object; a proxy in front of it does not, and its object may be there.
  if (status === 404) return 'NotFound'
  if (status === 403) return 'AccessDenied'
  return status >= 300 && status < 400 ? 'PermanentRedirect' : 'Unknown'
}

function whatToDo(code: string, region: string | null, date: string | null, asked: Asked): string {
  const { bucket, endpoint } = asked
  switch (code) {
    case 'InvalidAccessKeyId':
      return `${endpoint} does not know the access key. Correct S3_ACCESS_KEY_ID.`
    case 'SignatureDoesNotMatch':
      return `The secret key does not fit the access key. Correct S3_SECRET_ACCESS_KEY.`
    case 'RequestTimeTooSkewed':
      return `The clock of this machine differs from that of ${endpoint}${skewText(date, asked.now)}. Set it right, for example with NTP.`
    case 'NoSuchBucket':
      return `${endpoint} has no bucket ${bucket}. Make it, or correct the name.`
    case 'AccessDenied':
    case 'AllAccessDisabled':
      return `The access key may not do this in the bucket ${bucket}. Allow it to list, read, write and delete there.`
    case 'PermanentRedirect':
    case 'TemporaryRedirect':
    case 'AuthorizationHeaderMalformed':
    case 'IllegalLocationConstraintException':
      return `The bucket ${bucket} is not in the region ${asked.region}. Set S3_REGION${region === null ? '' : ` to ${region}`}, and S3_ENDPOINT to its address.`
    case 'NoSuchKey':
      return `The object is not in the bucket ${bucket}.`
    case 'QuotaExceeded':
    case 'XMinioStorageFull':
      return `The bucket ${bucket} is full. Make room.`
    default:
      return `${endpoint} refuses the request. Look at the state of the store.`
  }
}

function skewText(date: string | null, now: Date): string {
  const seconds = date === null ? NaN : Math.round((now.getTime() - Date.parse(date)) / 1_000)
  return Number.isNaN(seconds) ? '' : ` by ${Math.abs(seconds)} s`
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#34': '"' }

/** The text of the first element of a name; null without one. Answers of S3 nest no element of the same name. */
export const readTag = (xml: string, name: string): string | null => readTags(xml, name)[0] ?? null

/** The texts, or the XML, of all elements of a name. */
export const readTags = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, text = '']) =>
    text.includes('<') ? text : text.replace(/&(\w+|#34);/g, (whole, entity: string) => ENTITIES[entity] ?? whole),
  )
