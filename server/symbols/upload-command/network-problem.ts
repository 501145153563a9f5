/** Sentences about a server that cannot be reached. */

const CERTIFICATE =
  /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)/u
const NO_HTTP = /^(?:HPE_|EPROTO|ERR_SSL_)/u
const BROKEN = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|ECONNABORTED)$/u

/**
 * @returns what to do, and whether it may help to try again; null when the error is none of the network
 */
export function networkProblem(error: unknown, url: URL): { readonly line: string; readonly mayPass: boolean } | null {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  // Errors of the file that is sent have its path.
  if (code === null || (error instanceof Error && 'path' in error)) return null
  const { origin, hostname } = url
  if (CERTIFICATE.test(code))
    return {
      line: `The certificate of ${origin} is not accepted (${code}). Correct the certificate, or name the file of your authority in NODE_EXTRA_CA_CERTS.`,
      mayPass: false,
    }
  if (NO_HTTP.test(code))
    return { line: `${origin} does not speak ${url.protocol.slice(0, -1)} (${code}). Correct --url.`, mayPass: false }
  if (code === 'ENOTFOUND')
    return { line: `No server has the name ${hostname}. Correct --url, or check the network.`, mayPass: false }
  const what = BROKEN.test(code) ? 'breaks the connection' : 'is not reachable'
  return {
    line: `${origin} ${what} (${code}). Check --url, the network, and that the service runs; then run this again.`,
    mayPass: true,
  }
}
