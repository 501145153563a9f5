import { S3_ADDRESS, type S3Settings } from '../../config/object-store.ts'
import { S3Error, readTag, readTags } from './s3-error.ts'
import { readXml, requestS3, type S3Options, type S3Request, waitBefore } from './s3-request.ts'

export { S3Error } from './s3-error.ts'

type ListedObject = { readonly key: string; readonly bytes: number; readonly modifiedAt: Date }

type StoreOptions = Omit<S3Options, 'settings' | 'bucket'>

/** Each part of a large object but the last; 10,000 of them are allowed, and R2 wants them equal. */
export const PART_BYTES = 16 * 1024 * 1024
/** A part that the store copies itself. */
const COPIED_BYTES = 1024 ** 3

/**
 * Objects below a prefix of a bucket, in a store that speaks S3. Keys are relative to the prefix, of characters that need no
 * encoding. Each method throws {@link S3Error}.
 */
export class ObjectStore {
  /** As the operator names it. */
  readonly name: string
  readonly #prefix: string
  readonly #options: S3Options

  /** @param address `s3://bucket/prefix` */
  constructor(address: string, settings: S3Settings, options: StoreOptions) {
    const [, bucket = '', prefix = ''] = S3_ADDRESS.exec(address) ?? []
    this.name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.#options = { ...options, settings, bucket }
  }

  /** Writes an object in one step. */
  put(key: string, body: Buffer<ArrayBuffer>): Promise<void> {
    return this.#send({ method: 'PUT', path: this.#prefix + key, body }, discard)
  }

  /** An object, or bytes of it, in memory; null when it is not there. */
  async get(
    key: string,
    range: { readonly start: number; readonly end: number } | null = null,
  ): Promise<Buffer | null> {
    const headers: Record<string, string> = range === null ? {} : { range: `bytes=${range.start}-${range.end - 1}` }
    try {
      return await this.#send({ method: 'GET', path: this.#prefix + key, headers }, async (response) =>
        Buffer.from(await response.arrayBuffer()),
      )
    } catch (error) {
      if (error instanceof S3Error && error.code === 'NoSuchKey') return null
      throw error
    }
  }

  /** Streams an object. An answer that is cut off continues where it ended, of the same object. */
  async *read(key: string): AsyncGenerator<Buffer> {
    const { attempts = 7 } = this.#options
    let at = 0
    let tag: string | null = null
    for (let failures = 0; ;) {
      const headers: Record<string, string> = at === 0 ? {} : { range: `bytes=${at}-` }
      if (at > 0 && tag !== null) headers['if-match'] = tag
      const response: Response = await this.#send({ method: 'GET', path: this.#prefix + key, headers }, (one) =>
        Promise.resolve(one),
      )
      tag ??= response.headers.get('etag')
      if (at > 0 && response.status !== 206) throw new S3Error('NoRange', 'The store ignores ranges.', false)
      if (response.body === null) return
      const pieces: AsyncIterable<Uint8Array> = response.body
      try {
        for await (const piece of pieces) {
          at += piece.length
          failures = 0
          yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
        }
        return
      } catch (error) {
        this.#options.signal?.throwIfAborted()
        if (++failures >= attempts)
          throw new S3Error('Unreachable', `${this.name} ends its answers too early. Check the network.`, true, {
            cause: error,
          })
        await waitBefore(failures, this.#options)
      }
    }
  }

  /** All objects whose key begins with this text, in the order of their keys. */
  async list(under: string): Promise<ListedObject[]> {
    const found: ListedObject[] = []
    let token: string | null = null
    do {
      const query: Record<string, string> = { 'list-type': '2', prefix: this.#prefix + under }
      if (token !== null) query['continuation-token'] = token
      const xml: string = await this.#send({ method: 'GET', path: '', query }, readXml)
      for (const one of readTags(xml, 'Contents'))
        found.push({
          key: (readTag(one, 'Key') ?? '').slice(this.#prefix.length),
          bytes: Number(readTag(one, 'Size')),
          modifiedAt: new Date(readTag(one, 'LastModified') ?? 0),
        })
      token = readTag(xml, 'NextContinuationToken')
    } while (token !== null)
    return found
  }

  /** Deletes an object; one that is not there is deleted. */
  async remove(key: string): Promise<void> {
    await this.#send({ method: 'DELETE', path: this.#prefix + key }, discard).catch((error: unknown) => {
      if (!(error instanceof S3Error && error.code === 'NoSuchKey')) throw error
    })
  }

  /**
   * Writes an object of any size, with two parts in memory, and what the connection copies. It is there when this returns, whole, or not at all.
   * @param parts each of {@link PART_BYTES}, but the last
   */
  async upload(key: string, parts: AsyncIterable<Buffer<ArrayBuffer>>): Promise<void> {
    const path = this.#prefix + key
    await this.#inParts(key, async (uploadId, tags) => {
      let sending: Promise<void> = Promise.resolve()
      let number = 0
      try {
        for await (const body of parts) {
          await sending
          const query = { partNumber: String(++number), uploadId }
          const index = number - 1
          sending = this.#send({ method: 'PUT', path, query, body }, async (response) => {
            await discard(response)
            tags[index] = response.headers.get('etag') ?? ''
          })
          // The next part awaits it.
          sending.catch(() => {})
        }
      } finally {
        await sending
      }
    })
  }

  /** Copies an object of any size inside of the store. */
  async copy(from: string, to: string, bytes: number): Promise<void> {
    await this.#inParts(to, async (uploadId, tags) => {
      for (let at = 0; at < bytes; at += COPIED_BYTES) {
        const query = { partNumber: String(tags.length + 1), uploadId }
        const headers = {
          'x-amz-copy-source': `/${this.#options.bucket}/${this.#prefix}${from}`,
          'x-amz-copy-source-range': `bytes=${at}-${Math.min(bytes, at + COPIED_BYTES) - 1}`,
        }
        const xml = await this.#send({ method: 'PUT', path: this.#prefix + to, query, headers }, readXml)
        tags.push(readTag(xml, 'ETag') ?? '')
      }
    })
  }

  /** Ends uploads that were cut off: the store keeps, and charges for, their parts. */
  async abortUploads(under: string): Promise<void> {
    const query = { uploads: '', prefix: this.#prefix + under }
    const xml = await this.#send({ method: 'GET', path: '', query }, readXml)
    for (const one of readTags(xml, 'Upload'))
      await this.#abort(readTag(one, 'Key') ?? '', readTag(one, 'UploadId') ?? '')
  }

  async #inParts(key: string, send: (uploadId: string, tags: string[]) => Promise<void>): Promise<void> {
    const path = this.#prefix + key
    const started = await this.#send({ method: 'POST', path, query: { uploads: '' } }, readXml)
    const uploadId = readTag(started, 'UploadId') ?? ''
    const tags: string[] = []
    try {
      await send(uploadId, tags)
      const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
      await this.#send({ method: 'POST', path, query: { uploadId }, body }, readXml).catch(async (error: unknown) => {
        // An earlier attempt, whose answer was lost, has completed it.
        const isDone = error instanceof S3Error && error.code === 'NoSuchUpload' && (await this.#has(path))
        if (!isDone) throw error
      })
    } catch (error) {
      await this.#abort(path, uploadId).catch(() => {})
      throw error
    }
  }

  async #has(path: string): Promise<boolean> {
    return this.#send({ method: 'HEAD', path }, discard).then(
      () => true,
      () => false,
    )
  }

  #abort(path: string, uploadId: string): Promise<void> {
    return this.#send({ method: 'DELETE', path, query: { uploadId } }, discard)
  }

  #send<T>(request: S3Request, read: (response: Response) => Promise<T>): Promise<T> {
    return requestS3(this.#options, request, read)
  }
}

async function discard(response: Response): Promise<void> {
  await response.arrayBuffer()
}
