/** A login at one server, as it is kept between commands. */
export interface Login {
  readonly server: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  readonly accessToken: string;
  /** RFC 3339; absent where the provider does not say. */
  readonly expiresAt?: string;
  /** Absent where the provider gives none: then the user has to log in again when the access token ends. */
  readonly refreshToken?: string;
}

/** Where logins are kept. */
export interface LoginStore {
  read(server: string): Promise<Login | undefined>;
  write(login: Login): Promise<void>;
  /** False when there was none. */
  remove(server: string): Promise<boolean>;
  /**
   * Does some work on one login while no other process of this user does. A refresh token can be used once: who comes
   * second must see what the first one got for it.
   */
  alone<T>(server: string, work: () => Promise<T>): Promise<T>;
}
