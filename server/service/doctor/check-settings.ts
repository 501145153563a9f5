import { type Config, isLoopbackHost } from '../../config/config.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const PART = 'settings'

/** Settings that are missing or weak. Pure. */
export function checkSettings(config: Config): Finding[] {
  const { protocol, hostname } = new URL(config.publicUrl)
  const isPublic = !isLoopbackHost(hostname)
  const found: (Finding | null)[] = [
    config.mode === 'relaxed' && isPublic
      ? problem(
          PART,
          `PUBLIC_URL is ${config.publicUrl}, but the service runs in relaxed mode, without protection against strangers. Set NODE_ENV=production and ENCRYPTION_KEYS.`,
        )
      : null,
    isPublic && protocol === 'http:'
      ? problem(
          PART,
          'PUBLIC_URL begins with http: passwords and sessions travel unencrypted. Put a proxy with TLS in front and use https.',
        )
      : null,
    isPublic && protocol === 'https:' && config.trustedProxies.length === 0
      ? problem(
          PART,
          'TRUSTED_PROXIES is not set: behind a proxy all clients share one address and its rate limits. Set it to the address of the proxy, such as 127.0.0.1.',
        )
      : null,
    config.rateLimitScale === 0
      ? problem(PART, 'RATE_LIMIT_SCALE is 0: passwords can be guessed without a limit. Unset it.')
      : null,
    config.mode === 'strict' && config.signup === 'open'
      ? problem(PART, 'FAULTLINE_SIGNUP is open: anyone who finds the address can sign up. Set it to invite or closed.')
      : null,
    config.mode === 'strict' && config.passwordCheck !== 'block'
      ? note(PART, `PASSWORD_CHECK is ${config.passwordCheck}: common passwords are accepted. Unset it.`)
      : null,
    config.mode === 'strict' && config.egressAllowHttp
      ? note(PART, 'EGRESS_ALLOW_HTTP is 1: webhooks may be sent unencrypted. Unset it when no endpoint needs that.')
      : null,
    config.mode === 'strict' && config.metricsToken === null
      ? note(PART, 'METRICS_TOKEN is not set: nothing can read /-/metrics. Set it, and let your monitoring read them.')
      : null,
    config.canaryMinutes === 0
      ? note(PART, 'FAULTLINE_CANARY_MINUTES is 0: no one learns when alerts stop arriving. Unset it.')
      : null,
    config.retryScale === 1
      ? null
      : problem(PART, 'FAULTLINE_RETRY_SCALE changes the delays of deliveries, and is for tests only. Unset it.'),
    config.encryptionKeys === null
      ? note(
          PART,
          `The encryption keys were generated. Copy ${config.dataDir}/keys/encryption-keys to another place: nothing replaces it.`,
        )
      : null,
    config.smtpUrl === null && config.mode === 'strict'
      ? problem('mail', 'SMTP_URL is not set: mails become files that no one reads. Set it to your mail server.')
      : null,
    config.smtpUrl === null && config.mode === 'relaxed'
      ? note('mail', `SMTP_URL is not set: mails become files in ${config.dataDir}/outbox.`)
      : null,
  ]
  const findings = found.filter((one) => one !== null)
  return findings.some(({ part }) => part === PART)
    ? findings
    : [ok(PART, `nothing is missing (${config.mode} mode)`), ...findings]
}
