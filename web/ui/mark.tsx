import styles from './mark.module.css'

/** The logo. */
export function Mark() {
  return (
    <svg className={styles.mark} viewBox="0 0 20 20" aria-hidden="true">
      <g className={styles.layers}>
        <path d="M1.5 3h11.2l-.9 3H1.5zM1.5 8h9.7l-.9 3H1.5zM1.5 13h8.2l-.9 3H1.5z" />
      </g>
      <g className={styles.accent}>
        <path d="M14.3 4.8h4.2v3h-5.1zM12.8 9.8h5.7v3h-6.6zM11.3 14.8h7.2v3h-8.1z" />
      </g>
    </svg>
  )
}

/** Mark and name of the product, inside a link. */
export function Brand({ name }: { name: string }) {
  return (
    <span className={styles.brand}>
      <Mark />
      <b>{name}</b>
    </span>
  )
}
