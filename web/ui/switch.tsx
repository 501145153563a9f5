import styles from './switch.module.css'

type SwitchProps = {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
  /** Why the switch is disabled. */
  why?: string | undefined
}

export function Switch({ label, checked, onChange, why }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      className={styles.switch}
      aria-checked={checked}
      aria-label={label}
      aria-disabled={why === undefined ? undefined : true}
      title={why}
      onClick={() => {
        if (why === undefined) onChange(!checked)
      }}
    />
  )
}
