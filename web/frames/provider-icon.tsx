import styles from './provider-icon.module.css'

export type Provider = 'github' | 'google'

const SHAPES: Readonly<Record<Provider, string>> = {
  github:
    'M8 .2a8 8 0 0 0-2.5 15.6c.4.1.5-.2.5-.4v-1.4c-2.2.5-2.7-1-2.7-1-.4-1-.9-1.2-.9-1.2-.7-.5.1-.5.1-.5.8.1 1.2.8 1.2.8.7 1.3 1.9.9 2.3.7.1-.5.3-.9.5-1.1-1.8-.2-3.6-.9-3.6-4 0-.9.3-1.6.8-2.1-.1-.2-.4-1 .1-2.1 0 0 .7-.2 2.2.8a7.5 7.5 0 0 1 4 0c1.5-1 2.2-.8 2.2-.8.4 1.1.2 1.9.1 2.1.5.6.8 1.3.8 2.1 0 3.1-1.9 3.8-3.6 4 .3.2.5.7.5 1.5v2.2c0 .2.1.5.6.4A8 8 0 0 0 8 .2',
  google:
    'M8.1 6.8v2.6h4.3c-.2 1.3-1.5 3.7-4.3 3.7a5.1 5.1 0 0 1 0-10.2c1.5 0 2.5.6 3.1 1.2l2.1-2A7.7 7.7 0 0 0 8.1 0a8 8 0 1 0 0 16c4.6 0 7.7-3.2 7.7-7.8 0-.5 0-.9-.1-1.4z',
}

/** The sign of a social provider, in ink: colour is for data. */
export const ProviderIcon = ({ provider }: { provider: Provider }) => (
  <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
    <path d={SHAPES[provider]} />
  </svg>
)
