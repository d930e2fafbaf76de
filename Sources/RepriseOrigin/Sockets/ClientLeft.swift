/// The client has closed its end, or reset the connection.
struct ClientLeft: Error {}
